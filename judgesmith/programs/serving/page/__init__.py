"""The page to try a judge: static files, which ``judgesmith serve`` sends as they are."""
