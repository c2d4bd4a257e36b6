package io.millrace.cli.storm;

import java.nio.charset.StandardCharsets;

/** Payloads that name their job, and results that name their attempt; some fill a blob. */
final class Payloads {
  private static final int LONG_BYTES = 10_000;
  private static final int EVERY = 10;

  private Payloads() {}

  static String key(int number) {
    return "job-" + number;
  }

  static String payload(int number) {
    return key(number) + "|" + (number % EVERY == 0 ? "x".repeat(LONG_BYTES) : "");
  }

  /** The key of the job with this payload. */
  static String keyOf(String payload) {
    return payload.substring(0, payload.indexOf('|'));
  }

  /** As long as the payload, at least. */
  static byte[] result(String payload, long attempt) {
    return (keyOf(payload) + "|" + attempt + payload.substring(payload.indexOf('|')))
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** The attempt that a result of a job names. */
  static long attemptOf(String key, String result) {
    String[] parts = result.split("\\|", -1);
    if (parts.length != 3 || !parts[0].equals(key)) {
      throw new AssertionError("this is no result of " + key + ": " + result);
    }
    return Long.parseLong(parts[1]);
  }
}
