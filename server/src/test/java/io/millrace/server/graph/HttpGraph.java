package io.millrace.server.graph;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.millrace.blobs.FileBlobStore;
import io.millrace.graph.GraphAccess;
import io.millrace.graph.GraphRegistry;
import io.millrace.graph.GraphWork;
import io.millrace.graph.TestType;
import io.millrace.graph.store.StoredGraph;
import io.millrace.http.AccessCheck;
import io.millrace.http.ErrorResponses;
import io.millrace.http.HttpLimits;
import io.millrace.http.HttpServer;
import io.millrace.http.Routes;
import io.millrace.server.Contract;
import io.millrace.store.StoreOptions;
import io.millrace.store.TaskStore;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Random;

/** A graph whose registry is reached over HTTP, and whose nodes only the test starts. */
final class HttpGraph implements GraphAccess {
  private final TaskStore store;
  private final StoredGraph graph;
  private final HttpServer listener;
  private final HttpGraphRegistry registry;

  HttpGraph(Path folder) {
    store = TaskStore.open(StoreOptions.in(folder.resolve("store")));
    graph =
        StoredGraph.open(
            store,
            FileBlobStore.open(folder.resolve("blobs")),
            TestType.ALL,
            InstantSource.system(),
            new Random(3));
    GraphTokens tokens = new GraphTokens(graph::secret, graph.registry()::node);
    Routes routes =
        new Routes(new SimpleMeterRegistry()).addAll(GraphPart.routes(graph.registry(), tokens));
    ErrorResponses responses = new ErrorResponses();
    GraphPart.addErrors(responses);
    listener =
        HttpServer.start(
            InetAddress.getLoopbackAddress(),
            0,
            HttpLimits.DEFAULT,
            AccessCheck.OPEN,
            routes,
            responses);
    registry =
        new HttpGraphRegistry(
            URI.create("http://127.0.0.1:" + listener.port() + "/v1"), Contract.of(routes.all()));
  }

  @Override
  public GraphRegistry registry() {
    return registry;
  }

  @Override
  public GraphWork work() {
    return graph.work();
  }

  @Override
  public void close() {
    registry.close();
    listener.stop();
    store.close();
  }
}
