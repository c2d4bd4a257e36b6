package io.millrace.store;

import io.millrace.store.StoreOptions.Limits;

/**
 * As many commands and reads wait for the store as may, see {@link Limits#queuedCommands} and
 * {@link Limits#queuedBytes}. The command did not reach the store and changed nothing; it can be
 * tried again once others have been answered.
 */
public final class StoreBusyException extends StoreException {
  /** With how much is waiting. */
  public StoreBusyException(String message) {
    super(message);
  }
}
