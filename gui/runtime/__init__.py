"""What runs below the window: work off its thread, settings, reports of errors."""
