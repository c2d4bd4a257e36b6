package io.millrace.server.http;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What answers one method of one route, with the figures of the requests it answered. */
final class Endpoint {
  private final String route;
  private final List<String> names;
  private final Handler handler;
  private final @Nullable PromptHandler prompt;
  private final RequestFigures figures;

  Endpoint(
      String route,
      List<String> names,
      Handler handler,
      @Nullable PromptHandler prompt,
      RequestFigures figures) {
    this.route = route;
    this.names = List.copyOf(names);
    this.handler = handler;
    this.prompt = prompt;
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

  /** What answers without waiting where it can; null where nothing does. */
  @Nullable PromptHandler prompt() {
    return prompt;
  }

  RequestFigures figures() {
    return figures;
  }
}
