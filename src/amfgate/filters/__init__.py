"""What a packet passes on its way through the gateway: one file each, in the order of `default_filters`."""

from .credentials import Credentials
from .dispatch import Dispatch
from .flex import Flex
from .packet_codec import PacketCodec

__all__ = ["Credentials", "Dispatch", "Flex", "PacketCodec"]
