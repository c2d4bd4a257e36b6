/**
 * Programs of one version with servers of another. {@code src/test/resources/…/versions} has a file
 * for each version, with what its commands and its server said to each other, made by {@link
 * io.millrace.cli.versions.Recorder}.
 */
@NullMarked
package io.millrace.cli.versions;

import org.jspecify.annotations.NullMarked;
