"""What training needs: gradients."""
