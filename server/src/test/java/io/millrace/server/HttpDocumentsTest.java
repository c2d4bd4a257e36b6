package io.millrace.server;

import io.millrace.client.ClientOptions;
import io.millrace.client.HttpTaskStore;
import io.millrace.cluster.documents.DocumentsFixture;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.cluster.documents.VersionedDocumentsContract;
import io.millrace.cluster.documents.store.StoreDocuments;
import io.millrace.server.config.Configuration;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import io.millrace.store.testkit.environment.SettableTimeEnvironment;
import io.millrace.store.testkit.environment.SimulatedDisk;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.io.TempDir;

/** Documents of a store keep their promises through the HTTP client and a real server. */
final class HttpDocumentsTest extends VersionedDocumentsContract {
  @TempDir private static Path blobs;

  @Override
  protected DocumentsFixture newFixture() {
    return new Fixture();
  }

  private static final class Fixture implements DocumentsFixture {
    private final MillraceServer server = serve();
    private final List<VersionedDocuments> opened = new ArrayList<>();

    private static MillraceServer serve() {
      Configuration configuration =
          Configuration.read(
              MillraceServer.SECTIONS,
              null,
              Map.of("server.port", "0", "blobs.data", blobs.toString()));
      StoreOptions options =
          StoreOptions.in(Path.of("store"))
              .withEnvironment(
                  new SettableTimeEnvironment(1, new SimulatedDisk(new SplittableRandom(1))));
      return MillraceServer.start(configuration, _ -> TaskStore.open(options));
    }

    @Override
    public VersionedDocuments open() {
      return at(server.port());
    }

    private synchronized VersionedDocuments at(int port) {
      ClientOptions options =
          ClientOptions.at(URI.create("http://127.0.0.1:" + port)).withRetryFor(Duration.ZERO);
      opened.add(StoreDocuments.owning(HttpTaskStore.open(options)));
      return opened.getLast();
    }

    @Override
    public VersionedDocuments unreachable() {
      try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        return at(socket.getLocalPort());
      } catch (IOException e) {
        throw new AssertionError(e);
      }
    }

    @Override
    public void close() {
      opened.forEach(VersionedDocuments::close);
      server.close();
    }
  }
}
