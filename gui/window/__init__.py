"""The window: the frame of the pages, and the commands of its menus."""
