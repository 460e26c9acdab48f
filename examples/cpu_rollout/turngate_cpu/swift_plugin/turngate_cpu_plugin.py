"""For `swift rollout --external_plugins`: lets the rollout server start without a GPU.

ms-swift imports it before it counts GPUs, and again in the server's worker process. The trainer is
another matter: it connects to the server before it imports plugins, so it is started with
`python -m turngate_cpu rlhf`.
"""

from turngate_cpu import prepare_server

prepare_server()
