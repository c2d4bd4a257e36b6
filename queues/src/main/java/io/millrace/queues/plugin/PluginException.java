package io.millrace.queues.plugin;

/** A plugin cannot be run, or not with these params. The message says why. */
public final class PluginException extends Exception {
  private static final long serialVersionUID = 1;

  /** With what is wrong. */
  public PluginException(String message) {
    super(message);
  }

  /** With what is wrong and what led to it. */
  public PluginException(String message, Throwable cause) {
    super(message, cause);
  }
}
