package io.millrace.store;

import io.millrace.store.StoreOptions.Limits;

/**
 * Too many commands and reads wait for the store, see {@link Limits#queuedCommands} and {@link
 * Limits#queuedBytes}. The command has changed nothing, and can be sent again later.
 */
public final class StoreBusyException extends StoreException {
  /** An exception that says how much is waiting. */
  public StoreBusyException(String message) {
    super(message);
  }
}
