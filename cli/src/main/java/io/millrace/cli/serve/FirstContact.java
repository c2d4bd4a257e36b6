package io.millrace.cli.serve;

import io.millrace.client.RejectedException;
import io.millrace.client.UnreachableException;
import io.millrace.store.DocumentKey;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import io.millrace.store.TaskStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The first word with a server. One that is away may come back and is waited for; one that wants
 * another token, or is not the one that was meant, never serves this process.
 */
final class FirstContact {
  private static final Logger LOG = LoggerFactory.getLogger(FirstContact.class);
  private static final long PAUSE_MILLIS = 500;

  /** Whatever the answer to it, it is one. */
  private static final DocumentKey ANYTHING = new DocumentKey("millrace", "hello");

  private FirstContact() {}

  /**
   * Waits until the server answers.
   *
   * @throws UnreachableException when it does not prove to be the one that was meant
   * @throws RejectedException when it does not take the question, or is no task store
   */
  static void await(TaskStore store) throws InterruptedException {
    boolean said = false;
    while (true) {
      try {
        store.document(ANYTHING);
        return;
      } catch (UnreachableException e) {
        if (e.isUntrusted()) {
          throw e;
        }
        said = say(said, e);
      } catch (StoreClosedException e) {
        said = say(said, e);
      }
      Thread.sleep(PAUSE_MILLIS);
    }
  }

  /** Says it once. */
  private static boolean say(boolean said, StoreException why) {
    if (!said) {
      LOG.warn("waiting for the server: {}", why.getMessage());
    }
    return true;
  }
}
