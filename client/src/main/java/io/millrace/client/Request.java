package io.millrace.client;

import org.jspecify.annotations.Nullable;

/** A request to the server. A class, since an array in a record would not be a value. */
final class Request {
  private final String method;
  private final String path;
  private final byte @Nullable [] body;
  private final int answerMillis;

  private Request(String method, String path, byte @Nullable [] body, int answerMillis) {
    this.method = method;
    this.path = path;
    this.body = body;
    this.answerMillis = answerMillis;
  }

  /**
   * Asks for what is at a path.
   *
   * @param path what follows the server's address, percent-encoded
   * @param answerMillis how long to wait for the answer
   */
  static Request get(String path, int answerMillis) {
    return new Request("GET", path, null, answerMillis);
  }

  /**
   * Sends JSON to a path.
   *
   * @param path what follows the server's address, percent-encoded
   * @param body the JSON, not copied
   * @param answerMillis how long to wait for the answer
   */
  static Request post(String path, byte[] body, int answerMillis) {
    return new Request("POST", path, body, answerMillis);
  }

  /**
   * Puts JSON at a path.
   *
   * @param path what follows the server's address, percent-encoded
   * @param body the JSON, not copied
   * @param answerMillis how long to wait for the answer
   */
  static Request put(String path, byte[] body, int answerMillis) {
    return new Request("PUT", path, body, answerMillis);
  }

  /**
   * Changes a part of what is at a path.
   *
   * @param path what follows the server's address, percent-encoded
   * @param body the JSON, not copied
   * @param answerMillis how long to wait for the answer
   */
  static Request patch(String path, byte[] body, int answerMillis) {
    return new Request("PATCH", path, body, answerMillis);
  }

  /**
   * Deletes what is at a path.
   *
   * @param path what follows the server's address, percent-encoded
   * @param answerMillis how long to wait for the answer
   */
  static Request delete(String path, int answerMillis) {
    return new Request("DELETE", path, null, answerMillis);
  }

  String method() {
    return method;
  }

  String path() {
    return path;
  }

  /** What to send; null for nothing. */
  byte @Nullable [] body() {
    return body;
  }

  int answerMillis() {
    return answerMillis;
  }
}
