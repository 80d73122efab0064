"""Help without a network: short texts that are shipped with the program, and the window that shows them."""
