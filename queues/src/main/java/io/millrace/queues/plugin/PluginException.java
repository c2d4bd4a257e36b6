package io.millrace.queues.plugin;

/** A plugin cannot be run, or not with these params. The message says why. */
public final class PluginException extends Exception {
  /** Says what is wrong. */
  public PluginException(String message) {
    super(message);
  }

  /** Says what is wrong, with its cause. */
  public PluginException(String message, Throwable cause) {
    super(message, cause);
  }
}
