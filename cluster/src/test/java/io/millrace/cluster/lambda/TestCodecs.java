package io.millrace.cluster.lambda;

import io.millrace.cluster.partition.PartitionName;
import java.nio.charset.StandardCharsets;

/** Codecs and addresses for tests. */
final class TestCodecs {
  static final Address HERE = new Address(new PartitionName(7, 3), "member-a");
  static final ClusterSecret SECRET = secret("a secret of 20 bytes");

  private TestCodecs() {}

  static ClusterSecret secret(String text) {
    return ClusterSecret.of(text.getBytes(StandardCharsets.UTF_8));
  }

  /** A codec that trusts the classes of these tests. */
  static LambdaCodec codec() {
    return new LambdaCodec(SECRET, TrustedClasses.packages("io.millrace.cluster.lambda"));
  }

  /** A codec that trusts more classes than these tests do. */
  static LambdaCodec trustingAll() {
    return new LambdaCodec(SECRET, TrustedClasses.packages("io.millrace", "java.util"));
  }

  /** Seals any bytes as a result. */
  static byte[] seal(byte[] object) {
    return new Envelope(Envelope.Kind.RESULT, HERE, object).seal(SECRET);
  }
}
