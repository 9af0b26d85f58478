"""Ed25519 signatures: who wrote this?"""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey


def is_valid(key: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the holder of the key's secret half signed exactly this message."""
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True
