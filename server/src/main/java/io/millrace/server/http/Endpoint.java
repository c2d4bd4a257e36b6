package io.millrace.server.http;

import java.util.List;

/** What answers one method of one route, with the figures of the requests it answered. */
final class Endpoint {
  private final String route;
  private final List<String> names;
  private final Handler handler;
  private final RequestFigures figures;

  Endpoint(String route, List<String> names, Handler handler, RequestFigures figures) {
    this.route = route;
    this.names = List.copyOf(names);
    this.handler = handler;
    this.figures = figures;
  }

  /** The pattern of the route. */
  String route() {
    return route;
  }

  /** The names of its path parameters, in order. */
  List<String> names() {
    return names;
  }

  Handler handler() {
    return handler;
  }

  RequestFigures figures() {
    return figures;
  }
}
