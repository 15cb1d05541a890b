"""Many modules: jobs with results that are kept by content, on processes of this machine or on a cluster."""
