"""What every HTTP server here is made of: endpoints as data, the guard, and the OpenAPI document."""
