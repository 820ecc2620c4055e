"""Complex numbers, which exist in the front end only: whatever computes with them becomes operations on two reals."""
