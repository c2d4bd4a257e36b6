package io.millrace.cluster.lambda;

import org.jspecify.annotations.Nullable;

/** Seals lambdas and their results in signed envelopes, and opens such envelopes. Thread-safe. */
public final class LambdaCodec {
  /**
   * The most bytes of an envelope. In base64 they are two thirds of what a document may have, so
   * there is no room for two in one.
   */
  public static final int MAX_BYTES = 512 * 1024;

  private final ClusterSecret secret;
  private final TrustedClasses trusted;

  /**
   * A codec.
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
   * @throws IllegalArgumentException naming the class of something that it captures that is not
   *     serializable or not trusted; or its size if that is over the limit
   */
  public byte[] sealLambda(Address address, SerializableLambda<?> lambda) {
    return seal(Envelope.Kind.LAMBDA, address, lambda);
  }

  /**
   * Opens what {@link #sealLambda} made, as far as its address.
   *
   * @throws RefusedLambdaException if it is too large, damaged, no lambda or not signed with this
   *     cluster's secret
   */
  public SealedLambda openLambda(byte[] envelope) {
    return new SealedLambda(open(Envelope.Kind.LAMBDA, envelope), trusted);
  }

  /**
   * Seals the result of a lambda.
   *
   * @param address that of the lambda
   * @throws IllegalArgumentException as {@link #sealLambda} does
   */
  public byte[] sealResult(Address address, @Nullable Object result) {
    return seal(Envelope.Kind.RESULT, address, result);
  }

  /**
   * Opens what {@link #sealResult} made.
   *
   * @param address that of the lambda
   * @throws RefusedLambdaException if it is the result of another one, too large, damaged, no
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
   * A lambda that was signed with the cluster's secret and is not deserialized yet. A member runs
   * it only if it is the addressee.
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
     * Deserializes the lambda, of trusted classes only; each call makes another object.
     *
     * @throws RefusedLambdaException naming a class that is not trusted or missing, or what else is
     *     wrong
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
