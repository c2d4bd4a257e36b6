/**
 * The description of all routes in the form of OpenAPI 3.1, at {@code GET /openapi}.
 *
 * <p>Methods, paths, names of parameters, kinds of bodies, roles and forms of errors are those of
 * the {@link io.millrace.http.Route}s. Types and texts come from resources, one YAML file for each
 * part of the server, in the notation that {@link io.millrace.server.openapi.Schemas} reads.
 */
@NullMarked
package io.millrace.server.openapi;

import org.jspecify.annotations.NullMarked;
