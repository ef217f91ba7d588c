"""Templates, scripts and the style of the studio's pages."""
