package io.millrace.cluster.lambda;

import io.millrace.cluster.partition.PartitionName;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import javax.crypto.Mac;

/** The content of a signed envelope. */
final class Envelope {
  private static final byte FORMAT = 1;
  private static final String PURPOSE = "millrace cluster lambda 1";
  private static final int SIGNATURE_BYTES = 32;
  private static final int HEADER_BYTES = 1 + 2 * Long.BYTES + Short.BYTES;

  private final Kind kind;
  private final Address address;
  private final byte[] object;

  /**
   * Creates an envelope that is not signed yet.
   *
   * @param kind whether it contains a lambda or a result
   * @param address the addressee of a lambda, the sender of a result
   * @param object the serialized object
   */
  Envelope(Kind kind, Address address, byte[] object) {
    this.kind = kind;
    this.address = address;
    this.object = object;
  }

  /** The kind of the content. It prevents a result from being run. */
  enum Kind {
    LAMBDA(1),
    RESULT(2);

    private final byte code;

    Kind(int code) {
      this.code = (byte) code;
    }

    private static Kind of(byte code) {
      return switch (code) {
        case 1 -> LAMBDA;
        case 2 -> RESULT;
        default -> throw new IllegalArgumentException("unknown kind " + code);
      };
    }
  }

  Kind kind() {
    return kind;
  }

  Address address() {
    return address;
  }

  byte[] object() {
    return object;
  }

  /** The signed bytes of the envelope. */
  byte[] seal(ClusterSecret secret) {
    byte[] member = address.member().getBytes(StandardCharsets.UTF_8);
    int signed = HEADER_BYTES + member.length + object.length;
    byte[] envelope = new byte[1 + SIGNATURE_BYTES + signed];
    ByteBuffer bytes = ByteBuffer.wrap(envelope).put(FORMAT).position(1 + SIGNATURE_BYTES);
    bytes.put(kind.code);
    bytes.putLong(address.partition().generation()).putLong(address.partition().number());
    bytes.putShort((short) member.length).put(member).put(object);
    bytes.put(1, signature(envelope, secret));
    return envelope;
  }

  /**
   * Reads a signed envelope.
   *
   * @throws RefusedLambdaException if it was not signed with this secret
   */
  static Envelope open(byte[] envelope, ClusterSecret secret) {
    if (envelope.length < 1 + SIGNATURE_BYTES) {
      throw new RefusedLambdaException("it is too short to be signed");
    }
    ByteBuffer bytes = ByteBuffer.wrap(envelope);
    byte format = bytes.get();
    byte[] offered = new byte[SIGNATURE_BYTES];
    bytes.get(offered);
    // Compares in constant time.
    if (!MessageDigest.isEqual(offered, signature(envelope, secret))) {
      throw new RefusedLambdaException("it is not signed with this cluster's secret");
    }
    if (format != FORMAT) {
      throw new RefusedLambdaException("it has format %d, not %d".formatted(format, FORMAT));
    }
    return read(bytes);
  }

  /** Reads the header, which another version of Millrace may have written. */
  private static Envelope read(ByteBuffer bytes) {
    try {
      Kind kind = Kind.of(bytes.get());
      PartitionName partition = new PartitionName(bytes.getLong(), bytes.getLong());
      byte[] member = new byte[Short.toUnsignedInt(bytes.getShort())];
      bytes.get(member);
      byte[] object = new byte[bytes.remaining()];
      bytes.get(object);
      Address address = new Address(partition, new String(member, StandardCharsets.UTF_8));
      return new Envelope(kind, address, object);
    } catch (BufferUnderflowException | IllegalArgumentException e) {
      throw new RefusedLambdaException("its header is damaged", e);
    }
  }

  private static byte[] signature(byte[] envelope, ClusterSecret secret) {
    Mac mac = secret.mac(PURPOSE);
    mac.update(envelope, 0, 1);
    mac.update(envelope, 1 + SIGNATURE_BYTES, envelope.length - 1 - SIGNATURE_BYTES);
    return mac.doFinal();
  }
}
