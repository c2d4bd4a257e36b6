package io.millrace.cluster.lambda;

/**
 * A lambda that somebody signed who knows the cluster's secret, and that is not an object yet. Run
 * it only where the address is one's own.
 */
public interface SealedLambda {
  /** Whom it is for. */
  Address address();

  /**
   * Makes an object of it, of trusted classes only; each call makes another one.
   *
   * @throws RefusedLambdaException naming the class that is not trusted or not there, or what else
   *     is wrong
   */
  SerializableLambda<?> lambda();
}
