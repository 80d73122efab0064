"""The window: what is around the pages, and what its menus do."""
