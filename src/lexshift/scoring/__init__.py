"""The paper: Gaussians, distances, swapping (Algorithm 1), SSCD (Algorithm 2), and tests. Arrays in, numbers out."""
