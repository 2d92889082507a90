"""How a question reaches every block of the population, and how the answers come back.

Sessions, datasets, blocks, tree reduction, retries and progress. The only place that imports Dask.
"""
