"""Two questions to a judge: the right rating, and the order of near neighbours."""
