package io.millrace.queues.runner;

import io.millrace.blobs.BlobStore;
import io.millrace.store.TaskStore;
import java.util.List;

/** How a runner comes to its server, which may be elsewhere after a restart. */
public interface Connector {

  /** What a runner uses of a server. Safe for use by any number of threads. */
  interface Connection extends AutoCloseable {
    /** Its store. */
    TaskStore store();

    /** Its blobs. */
    BlobStore blobs();

    /** Cuts it; calls under way fail, changes among them with an unknown outcome. */
    @Override
    void close();
  }

  /**
   * Makes ready to speak to a server; whether it is there shows later.
   *
   * @param arguments the server's part of a runner's command line, see {@link
   *     LocalRunners.Options.Command}
   * @throws RuntimeException when they are of no use, with a message that says why
   */
  Connection open(List<String> arguments);
}
