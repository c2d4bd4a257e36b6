package io.millrace.http.message;

import org.jspecify.annotations.Nullable;

/** The supported request methods. */
public enum HttpMethod {
  /** Reads; a route for GET answers HEAD too. */
  GET,
  /** The same as GET, but the response has no body. */
  HEAD,
  /** Asks which methods a path supports; answered without a route. */
  OPTIONS,
  /** Performs an action. */
  POST,
  /** Creates or replaces the resource at the path. */
  PUT,
  /** Changes parts of the resource at the path. */
  PATCH,
  /** Deletes the resource at the path. */
  DELETE;

  /** The method with exactly this name; null for any other name. */
  public static @Nullable HttpMethod named(String name) {
    return switch (name) {
      case "GET" -> GET;
      case "HEAD" -> HEAD;
      case "OPTIONS" -> OPTIONS;
      case "POST" -> POST;
      case "PUT" -> PUT;
      case "PATCH" -> PATCH;
      case "DELETE" -> DELETE;
      default -> null;
    };
  }
}
