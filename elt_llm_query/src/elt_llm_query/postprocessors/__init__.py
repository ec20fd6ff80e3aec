"""What is done with candidates and sources: weighed, widened, cut, put in order."""
