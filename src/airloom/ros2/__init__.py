"""ROS 2 without ROS: topics, services, parameters, an action and frames for nodes on the same domain."""
