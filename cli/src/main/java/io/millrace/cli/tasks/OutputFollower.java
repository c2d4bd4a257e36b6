package io.millrace.cli.tasks;

import io.millrace.cli.remote.Retries;
import io.millrace.client.JsonCalls;
import io.millrace.client.UnreachableException;
import io.millrace.store.StoreClosedException;
import io.millrace.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes one output of a task as it comes. A broken connection is made anew where it was. */
final class OutputFollower implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(OutputFollower.class);
  private static final Duration SILENCE = Duration.ofSeconds(60);

  private final JsonCalls calls;
  private final String path;
  private final PrintStream to;
  private long offset;
  private final Retries retries = new Retries();

  /**
   * Nothing read yet.
   *
   * @param path where the output is, up to the offset
   */
  OutputFollower(JsonCalls calls, String path, PrintStream to) {
    this.calls = calls;
    this.path = path;
    this.to = to;
  }

  /** Writes until the end of the output. */
  @Override
  public void run() {
    while (!wholeRest()) {
      LOG.debug("going on at {} of {}", offset, path);
    }
  }

  private boolean wholeRest() {
    try (InputStream in = calls.stream(path + offset, SILENCE)) {
      byte[] buffer = new byte[1 << 13];
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        to.write(buffer, 0, read);
        to.flush();
        offset += read;
        retries.succeeded();
      }
      return true;
    } catch (SocketTimeoutException _) {
      // A task may well be silent; the connection need not last for that.
      retries.succeeded();
    } catch (IOException e) {
      again(new UnreachableException("the output broke off: " + e.getMessage(), e));
    } catch (UnreachableException | StoreClosedException e) {
      // It is away or about to stop: it may be back soon.
      again(e);
    }
    return false;
  }

  private void again(StoreException failure) {
    try {
      retries.pause(failure);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      throw failure;
    }
  }
}
