package io.millrace.mongodb;

/** The address of a database is wrong, or its user may not use it. */
public final class MongoAddressException extends IllegalArgumentException {
  MongoAddressException(String message) {
    super(message);
  }

  MongoAddressException(String message, Throwable cause) {
    super(message, cause);
  }
}
