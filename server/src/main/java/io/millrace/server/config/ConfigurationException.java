package io.millrace.server.config;

import io.millrace.server.ServerException;

/**
 * The configuration is not usable; the message names the key, the place and what would be right.
 */
public final class ConfigurationException extends ServerException {
  private static final long serialVersionUID = 1;

  /** With what is wrong. */
  public ConfigurationException(String message) {
    super(message);
  }

  /** With what is wrong and what found it. */
  public ConfigurationException(String message, Throwable cause) {
    super(message, cause);
  }
}
