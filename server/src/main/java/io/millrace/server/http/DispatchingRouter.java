package io.millrace.server.http;

import io.helidon.webserver.Router;
import io.helidon.webserver.Routing;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.HttpRouting;
import java.util.List;

/** The library's router, with HTTP requests going to our dispatcher. */
record DispatchingRouter(Router other, HttpRouting dispatcher) implements Router {
  @Override
  public <T extends Routing> T routing(Class<T> type, T absent) {
    return type == HttpRouting.class ? type.cast(dispatcher) : other.routing(type, absent);
  }

  @Override
  public void beforeStart() {
    other.beforeStart();
  }

  @Override
  public void afterStart(WebServer server) {
    other.afterStart(server);
  }

  @Override
  public void afterStop() {
    other.afterStop();
  }

  @Override
  public List<? extends Routing> routings() {
    return other.routings();
  }
}
