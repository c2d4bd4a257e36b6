package io.millrace.cluster.lambda;

import org.jspecify.annotations.Nullable;

/** Seals lambdas and their results in signed envelopes, and opens such envelopes. Thread-safe. */
public final class LambdaCodec {
  /**
   * The maximum bytes of an envelope. In base64 that is two thirds of the maximum size of a
   * document.
   */
  public static final int MAX_BYTES = 512 * 1024;

  private final ClusterSecret secret;
  private final TrustedClasses trusted;

  /**
   * Creates a codec.
   *
   * @param secret the same for all members
   * @param trusted the classes whose objects may be sent
   */
  public LambdaCodec(ClusterSecret secret, TrustedClasses trusted) {
    this.secret = secret;
    this.trusted = trusted;
  }

  /**
   * Seals a lambda for one member and one partition.
   *
   * @throws IllegalArgumentException if the lambda captures something that is not serializable or
   *     not trusted, or is too large; the message names the class or the size
   */
  public byte[] sealLambda(Address address, SerializableLambda<?> lambda) {
    return seal(Envelope.Kind.LAMBDA, address, lambda);
  }

  /**
   * Checks an envelope of {@link #sealLambda} and reads its address.
   *
   * @throws RefusedLambdaException if it is too large, damaged, not a lambda, or not signed with
   *     this cluster's secret
   */
  public SealedLambda openLambda(byte[] envelope) {
    return new SealedLambda(open(Envelope.Kind.LAMBDA, envelope), trusted);
  }

  /**
   * Seals the result of a lambda.
   *
   * @param address the address of the lambda
   * @throws IllegalArgumentException for the same reasons as {@link #sealLambda}
   */
  public byte[] sealResult(Address address, @Nullable Object result) {
    return seal(Envelope.Kind.RESULT, address, result);
  }

  /**
   * Opens an envelope of {@link #sealResult}.
   *
   * @param address that of the lambda
   * @throws RefusedLambdaException if it is the result of another lambda, too large, damaged, not a
   *     result, not signed with this cluster's secret, or of a class that is not trusted
   */
  public @Nullable Object openResult(Address address, byte[] envelope) {
    Envelope open = open(Envelope.Kind.RESULT, envelope);
    if (!open.address().equals(address)) {
      throw new RefusedLambdaException(
          "it is from %s, not from %s".formatted(open.address(), address));
    }
    return TrustedSerialization.read(open.object(), trusted);
  }

  private byte[] seal(Envelope.Kind kind, Address address, @Nullable Object object) {
    byte[] bytes =
        new Envelope(kind, address, TrustedSerialization.write(object, trusted)).seal(secret);
    if (bytes.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "an object sent to another member has up to %d bytes, not %d"
              .formatted(MAX_BYTES, bytes.length));
    }
    return bytes;
  }

  private Envelope open(Envelope.Kind kind, byte[] envelope) {
    if (envelope.length > MAX_BYTES) {
      throw new RefusedLambdaException(
          "it has %d bytes, more than %d".formatted(envelope.length, MAX_BYTES));
    }
    Envelope open = Envelope.open(envelope, secret);
    if (open.kind() != kind) {
      throw new RefusedLambdaException("it is a %s, not a %s".formatted(open.kind(), kind));
    }
    return open;
  }

  /**
   * A lambda whose signature is valid, and which is not deserialized yet. Only the member that it
   * is addressed to runs it.
   */
  public static final class SealedLambda {
    private final Envelope envelope;
    private final TrustedClasses trusted;

    private SealedLambda(Envelope envelope, TrustedClasses trusted) {
      this.envelope = envelope;
      this.trusted = trusted;
    }

    /** The partition and the member that it is for. */
    public Address address() {
      return envelope.address();
    }

    /**
     * Deserializes the lambda, of trusted classes only. Each call creates a new object.
     *
     * @throws RefusedLambdaException if a class is not trusted or missing, or the lambda is
     *     damaged; the message says which
     */
    public SerializableLambda<?> lambda() {
      if (TrustedSerialization.read(envelope.object(), trusted)
          instanceof SerializableLambda<?> lambda) {
        return lambda;
      }
      throw new RefusedLambdaException("it holds something that is no lambda");
    }
  }
}
