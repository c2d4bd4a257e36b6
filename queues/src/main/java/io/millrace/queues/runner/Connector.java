package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.store.TaskStore;
import java.util.List;

/** Connects a runner to its server, which may have another address after a restart. */
public interface Connector {

  /** A connection of a runner to its server. Safe for use by any number of threads. */
  interface Connection extends AutoCloseable {
    /** Its store. */
    TaskStore store();

    /** Its blobs. */
    BlobStore blobs();

    /** Closes it; current calls fail, changes among them with an unknown outcome. */
    @Override
    void close();
  }

  /**
   * Prepares a connection to a server, whether it can be reached or not.
   *
   * @param arguments the server's part of a runner's command line, see {@link
   *     LocalRunners.Options.Command}
   * @throws RuntimeException if they are not valid, with a message that says why
   */
  Connection open(List<String> arguments);
}
