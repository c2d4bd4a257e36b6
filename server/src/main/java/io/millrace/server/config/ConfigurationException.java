package io.millrace.server.config;

import io.millrace.server.ServerException;

/**
 * The configuration is not usable; the message names the key and the place, and says what would be
 * right.
 */
public final class ConfigurationException extends ServerException {
  /** Says what is wrong. */
  public ConfigurationException(String message) {
    super(message);
  }

  /** Says what is wrong, with its cause. */
  public ConfigurationException(String message, Throwable cause) {
    super(message, cause);
  }
}
