package io.millrace.server.http;

import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.http.RoutingRequest;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** One request as it came over a connection. */
interface Incoming {
  /** Method, path and query. */
  HttpPrologue prologue();

  Headers headers();

  /** The length of its body, 0 for none; {@link Head#CHUNKED} if only its end will tell. */
  long bodyBytes();

  /** The body; to be asked for once. */
  InputStream body();

  /** The budget for what is read of the body; null if all of it is in memory and counted. */
  @Nullable RequestMemory memory();

  /** A request that is read from the connection piece by piece. */
  record Streaming(RoutingRequest source, RequestThread thread) implements Incoming {
    @Override
    public HttpPrologue prologue() {
      return source.prologue();
    }

    @Override
    public Headers headers() {
      return source.headers();
    }

    @Override
    public long bodyBytes() {
      return thread.head().bodyBytes();
    }

    @Override
    public InputStream body() {
      return thread.body();
    }

    @Override
    public RequestMemory memory() {
      return thread.connection().memory();
    }
  }
}
