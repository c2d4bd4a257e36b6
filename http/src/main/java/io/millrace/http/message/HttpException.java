package io.millrace.http.message;

/** The base class of this module's exceptions. */
public class HttpException extends RuntimeException {
  /** An exception whose message a person can act on. */
  public HttpException(String message) {
    super(message);
  }

  /** An exception whose message a person can act on, with its cause. */
  public HttpException(String message, Throwable cause) {
    super(message, cause);
  }
}
