"""A small participant of DDS in plain Python, for the requests and replies of services only.

ROS knows a reply by the identity of its request, which Fast DDS, the default of ROS, sends beside the data
(inline QoS) and Cyclone within. Cyclone DDS lets no program read or write what is beside the data; so services have a
participant of their own, by the standard (OMG DDSI-RTPS 2.3), that understands both. All else goes by Cyclone.
"""
