"""What one block of the population does when asked, and how two answers add up.

Pure functions on numpy, pyarrow and cryptography: no Dask, no files, no clock. They run on a cluster's
workers, and as they are on a respondent's own device.
"""
