package io.millrace.server.http;

import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.http.RoutingRequest;
import java.io.InputStream;

/** One request as it came over a connection. */
interface Incoming {
  /** Method, path and query. */
  HttpPrologue prologue();

  Headers headers();

  /** Whether a body comes with it; one of length 0 is none. */
  boolean hasBody();

  /** The body; to be asked for once. */
  InputStream body();

  /** A request that the library reads from the connection. */
  record Streaming(RoutingRequest source) implements Incoming {
    @Override
    public HttpPrologue prologue() {
      return source.prologue();
    }

    @Override
    public Headers headers() {
      return source.headers();
    }

    @Override
    public boolean hasBody() {
      return source.content().hasEntity();
    }

    @Override
    public InputStream body() {
      return source.content().inputStream();
    }
  }
}
