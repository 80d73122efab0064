"""What is asked before something is done."""
