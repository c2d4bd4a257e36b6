package io.millrace.cluster.documents.elastic;

import io.millrace.cluster.documents.DocumentsFixture;
import io.millrace.cluster.documents.VersionedDocuments;
import io.millrace.work.elastic.ElasticClient;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Documents in an engine that several tests share. */
final class ElasticFixture implements DocumentsFixture {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final URI address;
  private final ElasticClient engine;
  private final List<VersionedDocuments> opened = new ArrayList<>();

  ElasticFixture(URI address) {
    this.address = address;
    engine = ElasticOptions.at(address).withTimeout(PATIENCE).connect();
    try {
      send("DELETE", "/millrace-documents?ignore_unavailable=true", null);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  String send(String method, String path, @Nullable String json) throws IOException {
    return new String(engine.send(method, path, json).body(), StandardCharsets.UTF_8);
  }

  @Override
  public VersionedDocuments open() {
    return add(address);
  }

  private synchronized VersionedDocuments add(URI at) {
    opened.add(ElasticDocuments.open(ElasticOptions.at(at).withTimeout(PATIENCE)));
    return opened.getLast();
  }

  @Override
  public void settle() {
    try {
      send("POST", "/millrace-documents/_refresh?ignore_unavailable=true", null);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public VersionedDocuments unreachable() {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return add(URI.create("http://127.0.0.1:" + socket.getLocalPort()));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    opened.forEach(VersionedDocuments::close);
    engine.close();
  }
}
