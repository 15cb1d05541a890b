"""What matches become: groups that can be cut out, and what is offloaded."""
