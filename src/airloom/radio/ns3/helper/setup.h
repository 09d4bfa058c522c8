// What Airloom wants, as lines of text: a key, a space, a value. Keys may come several times.
//
// An object of ns-3 is its type and its attributes, by the names that ns-3 gives them:
//     loss ns3::LogDistancePropagationLossModel Exponent=3 ReferenceDistance=1

#pragma once

#include "wire.h"

#include "ns3/core-module.h"

#include <sstream>

class Setup
{
  public:
    explicit Setup(const std::string& text)
    {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
        {
            auto space = line.find(' ');
            if (space == std::string::npos)
            {
                throw Garbled("a line of the setup has no value: " + line);
            }
            m_lines.emplace_back(line.substr(0, space), line.substr(space + 1));
        }
    }

    std::string Get(const std::string& key) const
    {
        auto values = All(key);
        if (values.size() != 1)
        {
            throw Garbled("the setup should have '" + key + "' once");
        }
        return values[0];
    }

    std::string Get(const std::string& key, const std::string& otherwise) const
    {
        return All(key).empty() ? otherwise : Get(key);
    }

    double Number(const std::string& key) const
    {
        return std::stod(Get(key));
    }

    std::vector<std::string> All(const std::string& key) const
    {
        std::vector<std::string> values;
        for (const auto& [name, value] : m_lines)
        {
            if (name == key)
            {
                values.push_back(value);
            }
        }
        return values;
    }

  private:
    std::vector<std::pair<std::string, std::string>> m_lines;
};

// The factory of an object of ns-3 that a line of the setup tells of.
inline ns3::ObjectFactory
FactoryOf(const std::string& line)
{
    std::istringstream words(line);
    std::string word;
    words >> word;
    ns3::ObjectFactory factory(word);
    while (words >> word)
    {
        auto equals = word.find('=');
        factory.Set(word.substr(0, equals), ns3::StringValue(word.substr(equals + 1)));
    }
    return factory;
}
