"""Files, processes, threads and memory."""
