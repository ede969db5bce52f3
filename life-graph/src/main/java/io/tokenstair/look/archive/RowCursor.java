package io.tokenstair.look.archive;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Rows of a query, one at a time. Holds a connection of its own until closed; the next row is read ahead, so {@link #peek} is
 * free.
 *
 * @param <R> what a row becomes
 */
public final class RowCursor<R> implements AutoCloseable {
    /** Makes a value of the current row. */
    @FunctionalInterface
    interface RowReader<R> {
        R read(ResultSet result) throws SQLException;
    }

    private final Connection connection;
    private final PreparedStatement statement;
    private final ResultSet result;
    private final RowReader<R> reader;
    private final ResultArchive archive;
    private @Nullable R next;

    RowCursor(
            ResultArchive archive,
            Connection connection,
            PreparedStatement statement,
            ResultSet result,
            RowReader<R> reader)
            throws SQLException {
        this.archive = archive;
        this.connection = connection;
        this.statement = statement;
        this.result = result;
        this.reader = reader;
        advance();
    }

    /** The next row, which stays next; null at the end. */
    public @Nullable R peek() {
        return next;
    }

    /** True while a row is left. */
    public boolean hasNext() {
        return next != null;
    }

    /**
     * The next row.
     *
     * @throws NoSuchElementException at the end
     */
    public R next() {
        R row = next;
        if (row == null) {
            throw new NoSuchElementException("no row left");
        }
        try {
            advance();
        } catch (SQLException failure) {
            throw archive.unreadable(failure);
        }
        return row;
    }

    private void advance() throws SQLException {
        next = result.next() ? reader.read(result) : null;
    }

    @Override
    public void close() {
        try (connection;
                statement;
                result) {
            next = null;
        } catch (SQLException failure) {
            throw archive.unreadable(failure);
        }
    }
}
