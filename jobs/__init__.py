"""What is asked, and what the answers mean: the driver's side.

Knows no Dask: it is handed a population. Only the command line, `jobs.__main__`, knows the cluster.
"""
